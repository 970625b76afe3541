import { openSqlite } from "./first.js";

export { openSqlite };