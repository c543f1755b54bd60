// Where the figure starts: it takes the place of the still one.
import { h, render } from "preact";
import trace from "plane";
import { StartFigure } from "./figure";

const place = document.querySelector("#figure")!;
place.textContent = "";
place.classList.remove("still");
place.removeAttribute("inert");
render(<StartFigure trace={trace} />, place);
