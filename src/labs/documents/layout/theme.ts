import type { Weight } from './fonts.ts'

export type TextStyle = { size: number; weight: Weight; color: string }

export const color = {
  text: '#1b2430',
  quiet: '#5c6773',
  accent: '#1d4f73',
  rule: '#d5dbe2',
  tint: '#f2f5f8',
  good: '#2f7d5b',
  good_tint: '#a9d3bf',
  warn: '#a35200',
  warn_tint: '#fdf3e3',
  alert: '#b3161b',
  alert_tint: '#fdecec',
  white: '#ffffff',
  black: '#000000',
}

const regular = (size: number, shade: string): TextStyle => ({ size, weight: 'regular', color: shade })
const bold = (size: number, shade: string): TextStyle => ({ size, weight: 'bold', color: shade })

export const textStyle = {
  title: bold(16, color.accent),
  heading: bold(11, color.accent),
  body: regular(9, color.text),
  fact: regular(8.4, color.text),
  strong: bold(9, color.text),
  small: regular(7.5, color.quiet),
  label: regular(7, color.quiet),
  head: bold(7.5, color.quiet),
  warn: bold(9, color.warn),
  alert: bold(9, color.alert),
  quiet: regular(9, color.quiet),
}

export const lineHeight = ({ size }: TextStyle) => size * 1.36
