// What the build makes of files that are not TypeScript.
declare module "*.py" {
  const text: string;
  export default text;
}
declare module "examples" {
  const files: [group: string, name: string, text: string][];
  export default files;
}
