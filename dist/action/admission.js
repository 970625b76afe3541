// src/action/admission.ts
/** Name of the comment that replies to commands: strangers must not overwrite the one with the verdict. */
const noticeName = "ppsgate notice";

export { noticeName };