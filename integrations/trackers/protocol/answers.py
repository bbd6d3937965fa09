"""What is read of each tracker's answers, and its type: one compact table.

The wire refuses an answer in which something needed is missing, or anything is of another type: a proxy may have
answered. What is not in the table is never read.
"""

from __future__ import annotations

from typing import Final

from integrations.answer_shape import AnswerShape, shape, within

_ISSUE_OF_GITHUB: Final = """
    number#! title! body state=open|closed! state_reason html_url! assignees[].login updated_at@!
"""
_ISSUE_OF_GITLAB: Final = """
    iid#! title! description state=opened|closed! web_url! assignees[].username due_date@ moved_to_id# updated_at@!
"""
_PROJECT_OF_JIRA: Final = "id! key!"
_ISSUE_OF_JIRA: Final = f"""
    id! key! fields.summary! fields.assignee.accountId fields.duedate@ fields.updated@! fields.resolution.name
    fields.status.name! fields.status.statusCategory.key! {within("fields.project", _PROJECT_OF_JIRA)}
"""
_ISSUE_OF_LINEAR: Final = """
    id! identifier! url! title! dueDate@ updatedAt@! trashed? state.type! assignee.email team.id! team.key!
"""

GITHUB_ISSUE: Final[AnswerShape] = shape(_ISSUE_OF_GITHUB)
GITHUB_ISSUES: Final[AnswerShape] = shape(within("[]", _ISSUE_OF_GITHUB))
GITHUB_REPOSITORY: Final[AnswerShape] = shape("full_name! has_issues?")
GITLAB_ISSUE: Final[AnswerShape] = shape(_ISSUE_OF_GITLAB)
GITLAB_ISSUES: Final[AnswerShape] = shape(within("[]", _ISSUE_OF_GITLAB))
GITLAB_PROJECT: Final[AnswerShape] = shape("path_with_namespace!")
GITLAB_USERS: Final[AnswerShape] = shape("[].id#!")
JIRA_CREATED: Final[AnswerShape] = shape("id!")
JIRA_ISSUE: Final[AnswerShape] = shape(_ISSUE_OF_JIRA)
JIRA_FOUND: Final[AnswerShape] = shape(f"{within('issues[]', _ISSUE_OF_JIRA)} nextPageToken")
JIRA_PROJECT: Final[AnswerShape] = shape(_PROJECT_OF_JIRA)
JIRA_TRANSITIONS: Final[AnswerShape] = shape(within("transitions[]", "id! to.name! to.statusCategory.key!"))
LINEAR: Final[dict[str, AnswerShape]] = {
    "Issue": shape(within("issue", _ISSUE_OF_LINEAR)),
    "Changed": shape(
        f"{within('issues.nodes[]', _ISSUE_OF_LINEAR)} issues.pageInfo.hasNextPage?! issues.pageInfo.endCursor"
    ),
    "Team": shape(within("teams.nodes[]", f"id! {within('states.nodes[]', 'id! type! position#!')}")),
    "User": shape("users.nodes[].id!"),
    "Create": shape(within("issueCreate.issue", _ISSUE_OF_LINEAR)),
    "Change": shape(within("issueUpdate.issue", _ISSUE_OF_LINEAR)),
}
"""What is read of the data that each of Linear's operations answers with."""
