import { t as guardOutput } from "./log.js";

// src/action-post.ts
guardOutput();
const { cleanUp } = await import("./clean-up.js");
await cleanUp();

export {  };