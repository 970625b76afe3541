import { t as pngOf } from "./png2.js";

export { pngOf };