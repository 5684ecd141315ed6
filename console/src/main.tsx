import './style/tokens.css'
import './style/base.css'
import './style/parts.css'
import './style/forms.css'
import './style/frame.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { loadSession } from './session.ts'
import { applyTheme } from './theme.ts'

applyTheme()
void loadSession()
render(<App />, document.getElementById('root') as HTMLElement)
