export type Entry = { page: string; title: string; path: string; text: string }

export function find(entries: Entry[], query: string, limit?: number): Entry[]
export function excerpt(text: string, query: string): { text: string; hit: boolean }[]
