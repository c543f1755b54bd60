// One of several, as a group of buttons.
import { h } from "preact";

interface Properties<T extends string> {
  label: string;
  /** What each is called. */
  names: Record<T, string>;
  value: T;
  choose: (value: T) => void;
  /** More classes. */
  also?: string;
}

export function Choice<T extends string>({ label, names, value, choose, also = "" }: Properties<T>) {
  return (
    <span class={`choice ${also}`} role="group" aria-label={label}>
      {(Object.keys(names) as T[]).map((one) => <button key={one} aria-pressed={one === value} onClick={() => choose(one)}>{names[one]}</button>)}
    </span>
  );
}
