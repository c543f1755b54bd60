// Above each long table, and above each list of names, a field that hides what does not contain its text; and what the
// theme lacks for screen readers and keyboards.
"use strict";

const LONG = 20;

function field(before, things, what) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("output");
    label.className = "filter";
    label.style.display = "block";
    input.type = "search";
    count.textContent = `${things.length} ${what}`;
    label.append("Filter: ", input, count);
    input.addEventListener("input", () => {
        const words = input.value.toLowerCase().split(/\s+/);
        let shown = 0;
        for (const [thing, text] of things) {
            const fits = words.every((word) => text.includes(word));
            thing.classList.toggle("filtered", !fits);
            shown += fits;
        }
        count.textContent = `${shown} of ${things.length} ${what}`;
    });
    before.before(label);
}

// A live page in a frame says how high it is.
addEventListener("message", ({ source, data }) => {
    const height = data?.pullback === "height" ? Number(data.height) : 0;
    const frame = height > 0 && [...document.querySelectorAll("iframe.explain")].find((one) => one.contentWindow === source);
    if (!frame) return;
    const borders = getComputedStyle(frame).boxSizing === "border-box" ? frame.offsetHeight - frame.clientHeight : 0;
    frame.style.height = `${height + borders}px`;
});

document.addEventListener("DOMContentLoaded", () => {
    for (const frame of document.querySelectorAll("iframe.explain")) frame.contentWindow.postMessage({ pullback: "height?" }, "*");
    for (const table of document.querySelectorAll("article table")) {
        const rows = [...table.querySelectorAll("tbody tr")];
        const wrapper = table.closest(".table-wrapper") ?? table;
        wrapper.tabIndex = 0;
        if (rows.length >= LONG) field(wrapper, rows.map((row) => [row, row.textContent.toLowerCase()]), "rows");
    }
    for (const list of document.querySelectorAll("article p")) {
        const names = [...list.children].filter((child) => child.tagName === "CODE");
        if (names.length >= LONG) field(list, names.map((name) => [name, name.textContent.toLowerCase()]), "names");
    }
    for (const cell of document.querySelectorAll("article th")) {
        if (!cell.textContent.trim()) cell.replaceWith(document.createElement("td")); // it is the head of nothing
    }
    for (const block of document.querySelectorAll("div.highlight pre")) block.tabIndex = 0;
    document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages");
    document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
    // Sphinx lays long signatures out as lists of definitions without terms.
    for (const part of document.querySelectorAll("dt.sig dl, dt.sig dd")) {
        const plain = document.createElement("div");
        plain.className = `signature-${part.tagName.toLowerCase()}`;
        plain.append(...part.childNodes);
        part.replaceWith(plain);
    }
    if (location.pathname.includes("/tutorial/")) {
        const blocks = document.createElement("script");
        blocks.type = "module";
        blocks.src = `${document.documentElement.dataset.content_root}playground/blocks.js`;
        document.head.append(blocks);
    }
});
