// src/gate/self-test/self-test-request.ts
const selfTestParts = [
	"check",
	"scenarios",
	"trials",
	"profile",
	"panic",
	"hang",
	"noise"
];
/** Suits most failures. */
const goOn = "fix that, and continue with --resume";

export { goOn, selfTestParts };