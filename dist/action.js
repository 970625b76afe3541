import { guardOutput } from "./action/log.js";

// src/action.ts
guardOutput();
const { runAction } = await import("./action/main.js");
await runAction();

export {  };