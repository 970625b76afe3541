// src/action/admission.ts
/** Name of the comment with replies to commands: strangers must not overwrite the comment with the verdict. */
const noticeName = "ppsgate notice";

export { noticeName };