import { ConsoleError, openConsole, realConsoleDeps } from "../console.js";

export { openConsole, realConsoleDeps };