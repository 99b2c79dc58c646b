import { Component, type ReactNode } from 'react'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Page } from '../parts/page.tsx'

/**
 * Keeps the way to other views open when one cannot be shown. Mostly its code did not come: the network broke off, or the
 * server is a newer one, which has other files. What did not come once is not asked for again before a reload.
 */
export class Mishap extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: unknown): { error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <Page title="This view cannot be shown">
        <p className="text-muted">
          The connection may have broken off, or the server may be a newer one than this page.
        </p>
        <Failure error={error} />
        <div>
          <Button kind="main" onClick={() => location.reload()}>
            Load it again
          </Button>
        </div>
      </Page>
    )
  }
}
