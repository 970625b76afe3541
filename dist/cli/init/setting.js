import { ownAction, parseAction, parseBranch, parseRepository, parseRunner, readClone } from "../init.js";

export { ownAction };