import { labOfThisMachine, openVirtualTestbed } from "../qemu.js";

export { openVirtualTestbed };