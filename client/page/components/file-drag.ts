// Files that are dragged over the page from elsewhere. The page calls this at its start, the drop zone for each drag.

export const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes("Files") === true;

/** Has the browser open no file in place of the page, also where nothing takes one, as in the join form. */
export function keepFilesOut(): void {
  for (const name of ["dragover", "drop"] as const)
    addEventListener(name, (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      event.dataTransfer!.dropEffect = "none";
    });
}
