import { labOfThisMachine, openVirtualTestbed } from "../qemu.js";

export { labOfThisMachine, openVirtualTestbed };