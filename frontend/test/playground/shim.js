// What Node has and a browser lacks.
import { Buffer } from "buffer";
import process from "process/browser";

globalThis.Buffer = Buffer;
globalThis.process = process;
process.cwd = () => "/";
export { Buffer, process };
