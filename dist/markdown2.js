import { n as renderMarkdown, t as mostCharacters } from "./markdown.js";

export { renderMarkdown };