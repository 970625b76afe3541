import { builderFor, openFreebsdMachines, openFreebsdTestbed, wakeFreebsdTestbed } from "../freebsd.js";

export { openFreebsdTestbed, wakeFreebsdTestbed };