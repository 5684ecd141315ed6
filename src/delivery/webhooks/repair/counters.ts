/** What this process has expired since it started. */
export const expired = { messages: 0 }
