import { n as cleanUp } from "./clean-up.js";

// src/action-post.ts
await cleanUp();

export {  };