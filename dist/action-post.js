import { guardOutput } from "./action/log.js";

// src/action-post.ts
guardOutput();
const { cleanUp } = await import("./action/clean-up.js");
await cleanUp();

export {  };