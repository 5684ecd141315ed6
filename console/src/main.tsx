import './style/tokens.css'
import './style/base.css'
import './style/parts.css'
import './style/forms.css'
import './style/frame.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { openSession } from './session.ts'
import { applyTheme } from './theme.ts'

applyTheme()
void openSession()
render(<App />, document.getElementById('root') as HTMLElement)
