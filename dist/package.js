// package.json
var version = "0.1.0";
var description = "Gates network patches on packets per second";

export { description, version };