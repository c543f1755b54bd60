// The page of explain, in a frame that has no access to this page. The last one stays in sight until the next has drawn itself.
import { Fragment, h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Page {
  html: string;
  run: number;
}

/** `moved` hears each state of the page in front after its first, as its address would have it. */
export function Explained({ page, moved }: { page: Page; moved: (start: string) => void }) {
  const [pages, setPages] = useState<Page[]>([]);
  const frames = useRef(new Map<number, HTMLIFrameElement>());
  const begun = useRef(new Set<number>());
  const latest = useRef(moved);
  latest.current = moved;

  useEffect(() => setPages((before) => [...before.slice(-1), page]), [page.run]);
  useEffect(() => {
    const heard = ({ source, data }: MessageEvent) => {
      if (data?.pullback !== "address" || typeof data.hash !== "string") return;
      const [run] = [...frames.current].find(([, frame]) => frame.contentWindow === source) ?? [];
      if (run === undefined) return;
      setPages((before) => before.filter((one) => one.run >= run));
      if (begun.current.has(run)) latest.current(data.hash);
      begun.current.add(run); // what a page opens with is no choice of the reader's
    };
    addEventListener("message", heard);
    return () => removeEventListener("message", heard);
  }, []);

  return (
    <>
      {pages.map(({ html, run }, index) => (
        <iframe
          key={run}
          data-run={run}
          class={index === 0 ? "" : "behind"}
          title="What backward did, step by step"
          sandbox="allow-scripts allow-downloads"
          srcdoc={html}
          ref={(frame) => void (frame ? frames.current.set(run, frame) : frames.current.delete(run))}
        />
      ))}
    </>
  );
}
