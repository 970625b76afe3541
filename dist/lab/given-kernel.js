import { expectKernel, kernelFormOf } from "./plain.js";

export { expectKernel, kernelFormOf };