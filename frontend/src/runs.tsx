// Where the page of training runs starts.
import { h } from "preact";
import { tellHeight } from "./frame";
import { clean, RunsPage, type Runs } from "./run";
import { start } from "./start";

start((data) => {
  tellHeight();
  return <RunsPage data={clean(data as Runs)} />;
});
