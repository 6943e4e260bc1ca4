/** Holds the place of data that load, without a shift when they come. */
export const Skeleton = ({ lines = 3 }: { readonly lines?: number }) => (
  <div class="skeleton" aria-busy="true" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_, index) => (
      <span key={index} />
    ))}
  </div>
)
