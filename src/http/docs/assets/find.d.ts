export type Entry = { page: string; title: string; path: string; text: string }

export type Index = { entry: Entry; title: string; page: string; text: string }[]

export function prepare(entries: Entry[]): Index
export function find(index: Index, query: string, limit?: number): Entry[]
export function excerpt(text: string, query: string): { text: string; hit: boolean }[]
