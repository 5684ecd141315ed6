import './compile-cache.ts'

const { serve } = await import('./processes/serve.ts')
await serve()
