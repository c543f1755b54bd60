// What computes calls anew, as a script of its own: pages of programs that are too large for it go without.
import { recompute } from "./recompute";

globalThis.recompute = recompute;
