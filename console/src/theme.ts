import { observable } from './observable.ts'

const STORAGE_KEY = 'assay.theme'
export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const isTheme = (text: string | null): text is Theme => themes.includes(text as Theme)
const stored = localStorage.getItem(STORAGE_KEY)

export const theme = observable<Theme>(isTheme(stored) ? stored : 'auto')

export const applyTheme = () => document.documentElement.setAttribute('data-theme', theme.get())

export function setTheme(next: Theme) {
  localStorage.setItem(STORAGE_KEY, next)
  theme.set(next)
  applyTheme()
}
