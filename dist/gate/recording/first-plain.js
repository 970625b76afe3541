// src/gate/recording/recordable-testbed.ts
const isRecordable = (testbed) => testbed.kind === "freebsd" || testbed.kind === "virtual";

export { isRecordable };