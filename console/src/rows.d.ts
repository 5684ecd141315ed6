declare module 'virtual:rows' {
  export const rows: Record<string, [method: string, path: string, media?: string]>
}
declare module 'virtual:series' {
  /** What a sample of each resource says. */
  export const series: Record<string, 'number' | 'pair' | 'text'>
}
declare module '*.css'
