// What the first screen does without, as a script of its own that is run once that is seen: the workbench, what drawers hold,
// and what is printed.
import { Rows } from "./answer";
import { Gradients } from "./gradients";
import { Graph, Zoom } from "./graph";
import { Help } from "./help";
import { Tape } from "./left";
import { CostPanel, Health } from "./panels";
import { isAsked, masked } from "./quiz";
import { savePicture } from "./save";
import { SheetTable } from "./sheet";
import { PrintedTape, Table } from "./table";
import { Workbench } from "./workbench";

const later = { CostPanel, Gradients, Graph, Health, Help, PrintedTape, Rows, SheetTable, Table, Tape, Workbench, Zoom, isAsked, masked, savePicture };

export type Later = typeof later;

declare global {
  var later: Later | undefined;
}

globalThis.later = later;
