import { publishChanges, unpublishChanges } from "../../../../src/tree/toolkit/publish-changes.ts";
import { type Folders, changesBetween, placeOf } from "../place.ts";

const [call, folders = ""] = process.argv.slice(2);
const given = JSON.parse(folders) as Folders;
const changes = await changesBetween(given);
const place = await placeOf(given);
await (call === "publish" ? publishChanges(changes, place) : unpublishChanges(changes, place));
