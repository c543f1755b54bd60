// The program as a file: a script, or a notebook.

/** A notebook (nbformat 4.5) that installs pullback, runs the program and shows its page. */
export function notebook(program: string): string {
  const code = (id: string, source: string) => ({ cell_type: "code", id, metadata: {}, execution_count: null, outputs: [], source: source.split(/(?<=\n)/) });
  const torch = /^\s*(import|from)\s+torch\b/m.test(program);
  const first = torch
    ? "%pip install --quiet pullback\nimport pullback.compat.torch\npullback.compat.torch.install() # where the real torch is imported, leave this out"
    : "%pip install --quiet pullback";
  return `${JSON.stringify(
    {
      cells: [
        code("install", first),
        code("program", `import pullback\n\nwith pullback.explain.record() as explained:\n${program.trimEnd().replace(/^(?=.)/gm, "    ")}`),
        code("page", "explained"),
      ],
      metadata: { kernelspec: { display_name: "Python 3", language: "python", name: "python3" }, language_info: { name: "python" } },
      nbformat: 4,
      nbformat_minor: 5,
    },
    null,
    1,
  )}\n`;
}

export function download(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
