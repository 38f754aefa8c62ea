/**
 * The program by which a view shows a link in the place of a file: the link, then the file. What goes wrong is told on the
 * standard error.
 */
import { toBytePath } from "../model/byte-path.ts";
import { mountLink } from "../platform/native/mount-link.ts";

const [link = "", target = ""] = process.argv.slice(2);
mountLink(toBytePath(link), toBytePath(target));
