import { t as guardOutput } from "./log.js";

// src/action.ts
guardOutput();
const { runAction } = await import("./main.js");
await runAction();

export {  };