/** The user without any privilege that Debian keeps for this purpose. */
export const nobody = { uid: 65_534, gid: 65_534 } as const;
