import { n as ministatPieces, r as renderMinistat, t as compare } from "./ministat.js";

export { compare, ministatPieces };