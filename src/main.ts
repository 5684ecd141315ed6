import './compile-cache.ts'

const { serve } = await import('./cli/serve.ts')
await serve()
