// Above each long table, and above each list of names, a field that hides what does not contain its text; on each block of
// code a button that copies what a reader would type; messages in it on several lines; and what the theme lacks for screen
// readers and keyboards.
"use strict";

const LONG = 20;
const TALL = 60;
const LONG_LINE = 90;

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

// Pages from which sections have moved: an address with a heading that is no longer there leads to where they are.
const MOVED = {
    "compile-internals": "compile-machine",
    "faq": "questions",
    "scipy-table": "scikit-learn-table",
    "torch-runs": "torch-tests",
    "trace": "trace-anew",
    "where-a-change-goes": "changes-inside",
};
const [, here, ending] = /([^/]*?)(\.html)?$/.exec(location.pathname);
addEventListener("DOMContentLoaded", () => {
    const heading = decodeURIComponent(location.hash.slice(1));
    if (MOVED[here] && heading && !document.getElementById(heading)) location.replace(MOVED[here] + (ending ?? "") + location.hash);
});

// A live page in a frame says how high it is.
addEventListener("message", ({ source, data }) => {
    const height = data?.pullback === "height" ? Number(data.height) : 0;
    const frame = height > 0 && [...document.querySelectorAll("iframe.explain")].find((one) => one.contentWindow === source);
    if (!frame) return;
    const borders = getComputedStyle(frame).boxSizing === "border-box" ? frame.offsetHeight - frame.clientHeight : 0;
    frame.style.height = `${height + borders}px`;
});

// What a session has after its prompts, which Pygments has marked; a statement of several lines ends with an empty one, as the
// interactive interpreter of Python 3.12 and older needs. A block without prompts is copied whole.
function typed(block) {
    const lines = block.innerHTML.split("\n").filter((line) => /^(<span><\/span>)?<span class="gp">/.test(line));
    if (!lines.length) return block.textContent;
    const holder = document.createElement("template");
    let open = false;
    let text = "";
    for (const line of lines) {
        holder.innerHTML = line;
        const prompt = holder.content.querySelector(".gp");
        prompt.remove();
        const more = prompt.textContent.startsWith("...");
        if (open && !more) text += "\n";
        text += `${holder.content.textContent}\n`;
        open = more;
    }
    return text;
}

// Browsers offer the clipboard to pages of https and of this machine; elsewhere a selection can be copied.
async function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
}

// Messages are longer than a block is wide: errors, and what a session prints on a long line, are shown on several.
function wrapped(block) {
    const holder = document.createElement("template");
    let error = false;
    block.innerHTML = block.innerHTML
        .split("\n")
        .map((line) => {
            holder.innerHTML = line;
            const text = holder.content.textContent;
            if (holder.content.querySelector(".gp")) error = false;
            else if (text.startsWith("Traceback")) error = true;
            else if (error || text.length > LONG_LINE) return `<span class="long">${line}</span>`;
            return line;
        })
        .join("\n");
}

function copied(block, said) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
        try {
            await copy(typed(block));
            button.textContent = "Copied";
        } catch {
            button.textContent = "Not copied";
        }
        said.textContent = button.textContent;
        button.focus();
        setTimeout(() => {
            button.textContent = "Copy";
            said.textContent = "";
        }, 2000);
    });
    block.before(button);
}

document.addEventListener("DOMContentLoaded", () => {
    for (const frame of document.querySelectorAll("iframe.explain")) frame.contentWindow.postMessage({ pullback: "height?" }, "*");
    for (const table of document.querySelectorAll("article table")) {
        const rows = [...table.querySelectorAll("tbody tr")];
        const wrapper = table.closest(".table-wrapper") ?? table;
        wrapper.tabIndex = 0;
        wrapper.classList.toggle("tall", rows.length > TALL);
        if (rows.length >= LONG) field(wrapper, rows.map((row) => [row, row.textContent.toLowerCase()]), "rows");
    }
    for (const list of document.querySelectorAll("article p")) {
        const names = [...list.children].filter((child) => child.tagName === "CODE");
        if (names.length >= LONG) field(list, names.map((name) => [name, name.textContent.toLowerCase()]), "names");
    }
    for (const cell of document.querySelectorAll("article th")) {
        if (!cell.textContent.trim()) cell.replaceWith(document.createElement("td")); // it is the head of nothing
    }
    const said = document.createElement("div");
    said.setAttribute("role", "status");
    said.className = "visually-hidden";
    document.body.append(said);
    for (const block of document.querySelectorAll("div.highlight pre")) {
        block.tabIndex = 0;
        if (block.querySelector(".gp")) wrapped(block);
        copied(block, said);
    }
    document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages");
    document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
    for (const icons of document.querySelectorAll(".content-icon-container")) {
        icons.setAttribute("role", "navigation");
        icons.setAttribute("aria-label", "Source of this page, and theme");
    }
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
