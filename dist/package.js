// package.json
var version = "0.1.0";
var description = "Gates FreeBSD network patches on packets per second";

export { description, version };