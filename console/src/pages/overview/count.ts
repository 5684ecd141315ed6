import type { api } from '../../api.ts'
import { count } from '../../words.ts'

export type Overview = Awaited<ReturnType<typeof api.getOverview>>
export type Count = { count: number; at_least: boolean }

export const counted = ({ count: n, at_least }: Count) => `${count(n)}${at_least ? '+' : ''}`
