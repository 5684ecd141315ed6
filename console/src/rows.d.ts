declare module 'virtual:rows' {
  export const rows: Record<string, [method: string, path: string, media?: string]>
}
declare module '*.css'
