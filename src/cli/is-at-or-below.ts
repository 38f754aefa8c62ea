/** Whether a path of a diff is the folder or lies in it; the empty one is the resource itself. */
export function isAtOrBelow(path: string, folder: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}
