declare module 'virtual:rows' {
  export const rows: Record<string, [method: string, path: string, media?: string]>
}
declare module 'virtual:series' {
  /** The value type of each resource's samples. */
  export const series: Record<string, 'number' | 'pair' | 'text'>
}
declare module '*.css'
