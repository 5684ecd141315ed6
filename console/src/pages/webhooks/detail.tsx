import { Head } from '../../ui/head.tsx'

export const WebhookDetail = () => <Head title="WebhookDetail" />
