import { store } from './observable.ts'

const KEPT = 'assay.theme'
export const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const isTheme = (text: string | null): text is Theme => themes.includes(text as Theme)
const kept = localStorage.getItem(KEPT)

export const theme = store<Theme>(isTheme(kept) ? kept : 'auto')

export const applyTheme = () => document.documentElement.setAttribute('data-theme', theme.get())

export function chooseTheme(next: Theme) {
  localStorage.setItem(KEPT, next)
  theme.set(next)
  applyTheme()
}
