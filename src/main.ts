import './compiled.ts'

const { serve } = await import('./cli/serve.ts')
await serve()
