declare module "plane" {
  const trace: import("../trace").Trace;
  export default trace;
}
